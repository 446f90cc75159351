"""The guest image: obtained, built, kept and verified. Build time; a running isolate needs nothing from here."""
