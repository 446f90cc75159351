"""MCP servers as connectors, in both eras of the protocol, through the SDK `mcp`.

`descriptions` can be imported without the SDK; everything else loads it.
"""
