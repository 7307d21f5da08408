"""What everything else stands on: compiling, devices, files, deadlines. Knows nothing of graphs."""
