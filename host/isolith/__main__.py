"""`python -m isolith`: the command `isolith`, in this very Python."""

from isolith.command_line.start import main

if __name__ == "__main__":
    main()
