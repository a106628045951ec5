"""Ways to choose topics by one objective or several, one a file."""
