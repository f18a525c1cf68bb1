echo DEBUG=1 > .env
