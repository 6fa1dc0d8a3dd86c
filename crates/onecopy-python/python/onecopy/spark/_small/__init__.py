"""Updates of a collection with few pages. The driver handles what is few, and executors read files with pyarrow.

Rows of the collection do not pass through Java. An update reads a narrow column of each table, and other columns only
where it finds something. What it found is few, so the driver joins it, where a join of Spark would cost more than the
work. It needs a file system that pyarrow knows; on others, Spark reads all tables.
"""
