"""Parts that targets over HTTP share: the session, its errors, rate headers, and paths into JSON."""
