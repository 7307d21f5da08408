"""The CPU backend: small pairs side by side in vector registers, large pairs one at a time."""
