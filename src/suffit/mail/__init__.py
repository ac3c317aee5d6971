"""The mail filter: messages read, learned and judged; standard library only where a message is judged."""
