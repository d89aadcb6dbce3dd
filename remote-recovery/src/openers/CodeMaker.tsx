import { usePortal, type RecoveryCode, type Vault } from "@relicario/shared/contract";
import { TextField } from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  Muted,
  Notice,
  SectionTitle,
  Skeleton,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { showKey } from "@relicario/vault/shown-image";
import { Printer } from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { takeFocus } from "../flow/take-focus.ts";
import { AddStep } from "./AddStep.tsx";
import { CodeSheet } from "./CodeSheet.tsx";
import { WordList } from "./WordList.tsx";

interface CodeMakerProps {
  readonly vault: Vault;
  readonly onAdded: () => void;
  readonly onCancel: () => void;
}

/**
 * Shows a new recovery code once, asks for two of its words, and adds it. Until then it opens
 * nothing.
 */
export function CodeMaker({ vault, onAdded, onCancel }: CodeMakerProps) {
  const { t } = useTranslation("openers");
  const { onLock } = usePortal();
  const [code, setCode] = useState<RecoveryCode | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [step, setStep] = useState<"write" | "prove" | "add">("write");
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    let current = true;
    vault.openers.newRecoveryCode().then(
      (made) => {
        if (current) setCode(made);
      },
      (thrown: unknown) => {
        if (current) setError(thrown);
      },
    );
    return () => {
      current = false;
    };
  }, [vault]);
  useEffect(
    () =>
      onLock(() => {
        setCode(null);
      }),
    [onLock],
  );
  return (
    <Card aria-labelledby="code-maker">
      <Stack $gap={4}>
        <SectionTitle key={step} ref={takeFocus} tabIndex={-1} id="code-maker">
          {t("code.make_title")}
        </SectionTitle>
        <ErrorNotice error={error} />
        {code === null && error === null && <Skeleton height="320px" />}
        {code !== null && step === "write" && (
          <>
            <Muted>{t("code.make_body")}</Muted>
            <Notice tone="warn">{t("code.once_body")}</Notice>
            <WordList words={code.words} label={t("code.words_aria")} />
            <SpacedRow>
              <Button
                tone="quiet"
                icon={<Printer aria-hidden />}
                onClick={() => {
                  setPrinting(true);
                }}
              >
                {t("code.print_action")}
              </Button>
              <Button
                onClick={() => {
                  setStep("prove");
                }}
              >
                {t("code.kept_action")}
              </Button>
              <Button tone="quiet" onClick={onCancel}>
                {t("show.cancel_action")}
              </Button>
            </SpacedRow>
            {printing && (
              <CodeSheet
                code={code}
                onEnd={() => {
                  setPrinting(false);
                }}
              />
            )}
          </>
        )}
        {code !== null && step === "prove" && (
          <ProveWords
            words={code.words}
            onProved={() => {
              setStep("add");
            }}
            onBack={() => {
              setStep("write");
            }}
          />
        )}
        {code !== null && step === "add" && (
          <AddStep
            vault={vault}
            made={() => Promise.resolve(showKey({ kind: "recovery_code", code: code.words.join(" ") }))}
            initialName={t("code.name_body")}
            label={t("code.add_action")}
            onAdded={onAdded}
            onCancel={onCancel}
          />
        )}
      </Stack>
    </Card>
  );
}

interface ProveWordsProps {
  readonly words: readonly string[];
  readonly onProved: () => void;
  readonly onBack: () => void;
}

/** Two words, each of another half, typed back from the paper. */
function ProveWords({ words, onProved, onBack }: ProveWordsProps) {
  const { t } = useTranslation("openers");
  const [places] = useState(() => twoPlaces(words.length));
  const [typed, setTyped] = useState<readonly string[]>(["", ""]);
  const [wrong, setWrong] = useState<readonly boolean[]>([false, false]);
  const handleProve = () => {
    const found = places.map((place, index) => typed[index]?.trim().toLowerCase() !== words[place]);
    setWrong(found);
    if (!found.includes(true)) onProved();
  };
  return (
    <>
      <Muted>{t("code.prove_body")}</Muted>
      {places.map((place, index) => (
        <TextField
          key={place}
          label={t("code.word_label", { number: place + 1 })}
          error={wrong[index] === true ? t("code.word_error") : null}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={typed[index] ?? ""}
          onChange={(event) => {
            setTyped(typed.map((before, at) => (at === index ? event.target.value : before)));
          }}
        />
      ))}
      <SpacedRow>
        <Button onClick={handleProve}>{t("code.prove_action")}</Button>
        <Button tone="quiet" onClick={onBack}>
          {t("code.again_action")}
        </Button>
      </SpacedRow>
    </>
  );
}

function twoPlaces(count: number): readonly number[] {
  const half = count / 2;
  const [first = 0, second = 0] = crypto.getRandomValues(new Uint8Array(2));
  return [first % half, half + (second % half)];
}
