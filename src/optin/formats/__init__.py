"""What is written for others to read: strict JSON, fingerprints of it, and files that appear whole or not at all."""
