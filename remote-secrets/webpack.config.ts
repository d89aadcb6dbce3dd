import { remoteConfig, type BuildMode } from "@relicario/tooling/webpack";

export default (_environment: unknown, { mode }: BuildMode) => remoteConfig({ name: "secrets", ...(mode && { mode }) });
