mkdir build; echo x > build/out
