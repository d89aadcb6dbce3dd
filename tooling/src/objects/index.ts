export { copyObjects, type ObjectReference } from "./copy-object.ts";
export {
  hashObject,
  MissingObjectError,
  ObjectStoreError,
  verifyBytes,
  WrongBytesError,
  type ExpectedBytes,
  type ObjectStore,
  type ObjectStoreFault,
} from "./object-store.ts";
export { combineStores, openObjectStore } from "./open-store.ts";
export { isStoreAddress } from "./store-address.ts";
