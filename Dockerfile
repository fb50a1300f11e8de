# The command in a container, for build servers: docker run --rm -v "$PWD:/work" nodewise check models
FROM node:22-slim AS build
WORKDIR /src
COPY . .
RUN npm ci

FROM node:22-slim
COPY --from=build /src/bin /opt/nodewise/bin
COPY --from=build /src/LICENSE /opt/nodewise/
RUN ln -s /opt/nodewise/bin/nodewise.js /usr/local/bin/nodewise
USER node
WORKDIR /work
ENTRYPOINT ["nodewise"]
CMD ["--help"]
