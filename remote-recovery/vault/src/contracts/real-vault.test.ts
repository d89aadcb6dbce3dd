import "fake-indexeddb/auto";

import { leavePortsUnwaited } from "../testing/channel-workers.ts";
import { describeVault } from "./describe-vault.ts";
import { realVault, realVisitor } from "./real-vault.ts";

leavePortsUnwaited();

describeVault("the vault over its workers", realVault, realVisitor);
