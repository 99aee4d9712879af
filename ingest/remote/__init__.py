"""Read dumps from an address: an object store, a web server, or any fsspec file system."""
