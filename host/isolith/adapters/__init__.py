"""Isolith as a tool of other frameworks: one import and one call each, over one pair of tools."""

from isolith.adapters.agent_tools import AgentTools, Answer, Definition, agent_tools, execute_tool_schema

__all__ = ["AgentTools", "Answer", "Definition", "agent_tools", "execute_tool_schema"]
