"""Drawings that explain how kith works: a module each, and what they share."""
