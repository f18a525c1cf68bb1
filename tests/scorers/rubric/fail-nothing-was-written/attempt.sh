echo done > notes
