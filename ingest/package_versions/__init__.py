"""List the versions of a package, install each, and find the first bad one."""
