"""The parts of `PyGPU.driver`, each with what belongs to one noun."""
