"""What MegEngine keeps beside its tensors."""
