"""What an experiment sets on hosts for the length of a run, and how each host puts it back by itself."""
