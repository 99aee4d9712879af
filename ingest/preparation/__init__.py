"""Turn the files of dumps into files of rows, in this process or in several."""
