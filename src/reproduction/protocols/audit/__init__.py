"""What an audit of labels says, where it is known which labels are wrong."""
