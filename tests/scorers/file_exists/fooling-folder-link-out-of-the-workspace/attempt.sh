ln -s /etc docs
