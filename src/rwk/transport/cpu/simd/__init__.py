"""Vector registers as values of compiled code, and exp and log on them."""
