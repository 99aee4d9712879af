"""Dumps behind an address: an object store, a web server, any file system of fsspec."""
