import { usePortal, type ImportStanding, type ReadImport, type Vault } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { DeviceQuestion, FileField, TextField } from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  Muted,
  Progress,
  SectionTitle,
  SpacedRow,
  Stack,
  visuallyHidden,
} from "@relicario/shared/ui";
import { useMutation } from "@tanstack/react-query";
import { FolderOpen } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { ImportDone } from "./ImportDone.tsx";
import { ImportReview, type ReadItems, type StoredItems } from "./ImportReview.tsx";

interface ImportPanelProps {
  readonly vault: Vault;
  /** Nothing was ever kept: the account begins with what is imported. */
  readonly begins: boolean;
  /** Nobody was asked yet whose device this is. */
  readonly asksDevice: boolean;
}

interface Compared {
  readonly read: ReadItems;
  readonly standings: readonly ImportStanding[];
}

/** Files are chosen and read, what they hold is looked at, and only then it is stored. */
export function ImportPanel({ vault, begins, asksDevice }: ImportPanelProps) {
  const { t } = useTranslation("settings-data");
  const { language } = usePortal();
  const [files, setFiles] = useState<readonly File[]>([]);
  const [exitIdentity, setExitIdentity] = useState("");
  const [refused, setRefused] = useState<Extract<ReadImport, { status: "refused" }>["reason"] | null>(null);
  const [stored, setStored] = useState<{ readonly result: StoredItems; readonly sealed: boolean } | null>(null);
  const folder = useRef<HTMLInputElement>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const reading = useMutation({
    mutationFn: async (chosen: readonly File[]): Promise<Compared | null> => {
      running.current?.abort();
      const controller = new AbortController();
      running.current = controller;
      const { signal } = controller;
      const read = await vault.imports.read(chosen, {
        language,
        signal,
        ...(exitIdentity === "" ? {} : { exitIdentity }),
      });
      if (read.status === "refused") {
        setRefused(read.reason);
        return null;
      }
      return { read, standings: await vault.imports.compare(read.items, { signal }) };
    },
    gcTime: 0, // it holds what is in the file
  });
  const choose = (chosen: readonly File[]) => {
    if (chosen.length === 0) return;
    setFiles(chosen);
    setRefused(null);
    reading.mutate(chosen);
  };
  const startOver = () => {
    reading.reset();
    setFiles([]);
    setStored(null);
    setExitIdentity("");
    setRefused(null);
  };

  const names = files.length === 1 ? (files[0]?.name ?? "") : (files[0]?.webkitRelativePath.split("/")[0] ?? "");
  const goOn = () => {
    setStored(null);
    choose(files);
  };
  if (stored !== null) {
    return (
      <>
        <ImportDone result={stored.result} sealed={stored.sealed} names={names} onAgain={startOver} onGoOn={goOn} />
        {asksDevice && <DeviceQuestion vault={vault} />}
      </>
    );
  }
  if (reading.data != null) {
    const { read, standings } = reading.data;
    return (
      <ImportReview
        vault={vault}
        begins={begins}
        read={read}
        standings={standings}
        onCancel={startOver}
        onStored={(result) => {
          reading.reset();
          setStored({ result, sealed: read.format === "relicario_export" });
        }}
      />
    );
  }
  const asksIdentity = refused === "identity_needed" || refused === "identity_wrong";
  const isCancelled = reading.error instanceof PortalError && reading.error.code === "cancelled";
  return (
    <Card>
      <Stack $gap={4}>
        <SectionTitle>{t("import.title")}</SectionTitle>
        <Muted>{t("import.body")}</Muted>
        <FileField
          label={t("import.file_label")}
          invitation={t("import.file_invitation")}
          hint={t("import.formats_hint")}
          value={files.length === 1 ? (files[0] ?? null) : null}
          onChange={(file) => {
            choose([file]);
          }}
          error={refused === null || refused === "identity_needed" ? null : t(`refused.${refused}`)}
          disabled={reading.isPending}
        />
        {asksIdentity && (
          <Stack $gap={3}>
            <TextField
              label={t("import.exit_label")}
              hint={t("import.exit_hint")}
              autoComplete="off"
              spellCheck={false}
              value={exitIdentity}
              onChange={(event) => {
                setExitIdentity(event.target.value);
              }}
            />
            <SpacedRow>
              <Button
                pending={reading.isPending}
                onClick={() => {
                  choose(files);
                }}
              >
                {t("import.exit_action")}
              </Button>
            </SpacedRow>
          </Stack>
        )}
        <SpacedRow>
          <Button
            tone="quiet"
            icon={<FolderOpen aria-hidden />}
            disabled={reading.isPending}
            onClick={() => folder.current?.click()}
          >
            {t("import.folder_action")}
          </Button>
          <FolderInput
            ref={folder}
            type="file"
            multiple
            tabIndex={-1}
            aria-label={t("import.folder_action")}
            {...{ webkitdirectory: "" }}
            onChange={(event) => {
              choose([...(event.target.files ?? [])]);
              event.target.value = "";
            }}
          />
        </SpacedRow>
        {reading.isPending && <Progress label={t("import.reading_status")} done={0} total={0} />}
        {!isCancelled && <ErrorNotice error={reading.error} />}
      </Stack>
    </Card>
  );
}

/** Its button opens it. */
const FolderInput = styled.input`
  ${visuallyHidden}
`;
