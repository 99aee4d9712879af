"""From the files of dumps to files of rows, in this process or in several."""
