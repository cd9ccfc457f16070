"""The web service: campaigns that people can join with trust. Thin: the work is in ``optin.web.service``."""
