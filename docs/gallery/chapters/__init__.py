"""The chapters of the gallery: each adds its pages in the order they are shown."""
