mv tests real; ln -s real tests
