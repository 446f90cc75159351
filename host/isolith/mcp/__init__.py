"""Isolith as an MCP server."""
