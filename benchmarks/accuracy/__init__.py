"""Programs of real libraries with planted mistakes, and how often xlagraph names them."""
