"""Language models beside the evaluated one: reading answers, scoring text."""
