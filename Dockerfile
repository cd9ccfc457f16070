# The web service, and every command, in one image: docs/how-to/docker.md.
# The first stage builds; the second holds Python, optin and what it needs, and runs as a user without rights.
ARG BASE=python:3.13-slim
FROM ${BASE} AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
RUN python3 -m venv /opt/optin \
 && /opt/optin/bin/python -m pip install --no-cache-dir --disable-pip-version-check --constraint constraints.txt '.[web,postgres]' \
 && { /opt/optin/bin/python -m compileall -qf --invalidation-mode unchecked-hash /opt/optin/lib || true; }
# compiled once, here, whatever the files' times become: each start would else take as long again (some are templates, no Python)

FROM ${BASE}
RUN useradd --system --uid 10001 --user-group --no-create-home --home-dir /var/lib/optin --shell /usr/sbin/nologin optin \
 && install -d -o optin -g optin -m 0700 /var/lib/optin /var/lib/optin/keys
COPY --from=build /opt/optin /opt/optin
ENV PATH=/opt/optin/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    MPLCONFIGDIR=/tmp/matplotlib \
    OPTIN_WEB_HOST=0.0.0.0 \
    OPTIN_WEB_PORT=8000 \
    OPTIN_WEB_KEYS=/var/lib/optin/keys
USER optin
WORKDIR /var/lib/optin
VOLUME ["/var/lib/optin"]
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
  CMD ["python3", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/ready', timeout=4)"]
CMD ["optin", "serve"]
