"""How numbers and sentences reach people, once: the same digits, the same words, on every surface."""
