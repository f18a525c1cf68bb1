touch notes
