"""Every item of logged runs on a page: to filter, to search, to look at; served or as files."""
