echo x > KEY.PEM
