"""The recording path: standard library only. It knows nothing of analysis."""
