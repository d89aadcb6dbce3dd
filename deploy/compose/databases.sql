CREATE DATABASE relicario_identity;
CREATE DATABASE keycloak;
