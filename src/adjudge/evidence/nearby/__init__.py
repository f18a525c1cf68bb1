"""What is answered when visible tests hand over other inputs."""
