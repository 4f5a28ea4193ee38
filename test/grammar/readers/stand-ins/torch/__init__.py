from anything import __getattr__
