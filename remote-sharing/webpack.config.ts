import { remoteConfig } from "@relicario/shared/webpack";

export default remoteConfig(import.meta.dirname);
