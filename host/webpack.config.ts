import { hostConfig, type BuildMode } from "@relicario/tooling/webpack";

export default (_environment: unknown, { mode }: BuildMode) => hostConfig({ ...(mode && { mode }) });
