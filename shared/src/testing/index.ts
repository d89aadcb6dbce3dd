export { expectAccessible } from "./accessible.ts";
export { conformance, type ConformanceSettings } from "./conformance.tsx";
export { createFakeHttp, type FakeAnswer, type FakeCall, type FakeHttp } from "./fake-http.ts";
export { createFakePortal, type FakePortal, type FakePortalSettings, type PortalRecord } from "./fake-portal.ts";
export { createFakeVault, picture, type FakeImage, type FakeSecret, type FakeUpload, type FakeVault, type FakeVaultSettings } from "./fake-vault.tsx";
export { manifestsFromDisk } from "./manifests-from-disk.ts";
export { createTestQueryClient, expectTextsComplete, renderApp, type RenderAppSettings, type RenderedApp } from "./renderApp.tsx";
export { readTexts, textKeys, textsFromDisk } from "./texts-from-disk.ts";
export { missingTourTargets } from "./tours.ts";
