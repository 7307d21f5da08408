"""Learning with an indefinite kernel; sees matrices and records only."""
