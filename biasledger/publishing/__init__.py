"""Hands built tables over to readers: the warehouse file, and files and databases made from it."""
