"""What an installation imports: all of clusterlift is inside this package, so that it takes one name."""
