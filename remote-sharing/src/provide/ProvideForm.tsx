import { zodResolver } from "@hookform/resolvers/zod";
import { usePortal, type RequestPreview, type Visitor } from "@relicario/shared/contract";
import { OperationProgress, FileField, KindChoice, SecretTextArea, SeedField, TextArea } from "@relicario/shared/forms";
import { getFormats } from "@relicario/shared/i18n";
import {
  Button,
  Card,
  ErrorNotice,
  LeaveGuard,
  Notice,
  s,
  SmallText,
  space,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { useMemo } from "react";
import { Controller, useForm, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { useOperation } from "../vault/useOperation.ts";
import { isProvideProblem, createProvideSchema, toProvidedSecret, type ProvideDraft } from "./provide-draft.ts";

/** What answering gave. */
export type AnswerResult = Awaited<ReturnType<Visitor["answer"]>>;

interface ProvideFormProps {
  readonly visitor: Visitor;
  readonly requestId: string;
  readonly offer: RequestPreview;
  readonly onSent: (result: AnswerResult) => void;
}

/** Who asks, for what; a text, a seed phrase or a file, sealed here to whoever made the link. */
export function ProvideForm({ visitor, requestId, offer, onSent }: ProvideFormProps) {
  const { t } = useTranslation(["beta-recover-share", "errors"]);
  const { language } = usePortal();
  const { title, note, requesterName, expiresAt, maxSize, unfinishedAnswer } = offer;
  const schema = useMemo(() => createProvideSchema(maxSize), [maxSize]);
  const { control, register, handleSubmit, formState } = useForm<ProvideDraft>({
    resolver: zodResolver(schema),
    defaultValues: { kind: unfinishedAnswer === null ? "text" : "file", text: "", file: null, note: "" },
  });
  const kind = useWatch({ control, name: "kind" });
  const { state, run, cancel } = useOperation();
  const busy = state.status === "running";
  const { errors } = formState;
  const formats = getFormats(language);
  const translateProblem = (message: string | undefined) => {
    if (message === undefined) return null;
    return isProvideProblem(message)
      ? t(`provide.${message}_error`, { size: formats.size(maxSize) })
      : t("errors:unknown");
  };

  const send = (draft: ProvideDraft, restart = false) => {
    run(async (options) => {
      const result = await visitor.answer(requestId, toProvidedSecret(draft), { ...options, restart });
      if (!options.signal.aborted) onSent(result);
    });
  };
  const isOtherFile = state.status === "failed" && state.error.code === "file_changed";
  return (
    <form
      onSubmit={(event) =>
        void handleSubmit((draft) => {
          send(draft);
        })(event)
      }
      noValidate
    >
      <LeaveGuard
        active={formState.isDirty}
        title={t("leave.title")}
        body={t("leave.body")}
        leaveLabel={t("leave.leave_action")}
        stayLabel={t("leave.stay_action")}
      />
      <Stack $gap={5}>
        <Card as="section" aria-labelledby="asked-for">
          <Stack $gap={3}>
            <SmallText>{t("provide.asks_label", { name: requesterName })}</SmallText>
            <RequestTitle id="asked-for" dir="auto">
              {title}
            </RequestTitle>
            {note !== "" && <Note dir="auto">{note}</Note>}
            <SmallText>
              {t("provide.facts_body", { when: formats.dateTime(expiresAt), size: formats.size(maxSize) })}
            </SmallText>
            <Notice tone="warn">{t("provide.vouch_body", { name: requesterName })}</Notice>
          </Stack>
        </Card>
        {unfinishedAnswer !== null && (
          <Notice title={t("provide.begun_title")}>
            {t("provide.begun_body", {
              name: unfinishedAnswer.name,
              sent: formats.size(unfinishedAnswer.sent),
              size: formats.size(unfinishedAnswer.size),
            })}
          </Notice>
        )}
        <Card as="div">
          <Stack $gap={5}>
            <Controller
              control={control}
              name="kind"
              render={({ field }) => (
                <KindChoice
                  legend={t("provide.kind_label")}
                  value={field.value}
                  disabled={busy}
                  onChange={field.onChange}
                />
              )}
            />
            {kind === "text" && (
              <SecretTextArea
                label={t("provide.text_label")}
                hint={t("provide.text_hint")}
                error={translateProblem(errors.text?.message)}
                disabled={busy}
                {...register("text")}
              />
            )}
            {kind === "seed" && (
              <Controller
                control={control}
                name="text"
                render={({ field, fieldState }) => (
                  <SeedField
                    value={field.value}
                    disabled={busy}
                    error={translateProblem(fieldState.error?.message)}
                    fieldRef={field.ref}
                    onBlur={field.onBlur}
                    onChange={field.onChange}
                  />
                )}
              />
            )}
            {kind === "file" && (
              <Controller
                control={control}
                name="file"
                render={({ field, fieldState }) => (
                  <FileField
                    label={t("provide.file_aria")}
                    placeholder={t("provide.drop_body", { size: formats.size(maxSize) })}
                    hint={t("provide.file_hint")}
                    value={field.value}
                    disabled={busy}
                    error={translateProblem(fieldState.error?.message)}
                    onChange={field.onChange}
                  />
                )}
              />
            )}
            <TextArea
              optional
              rows={2}
              label={t("provide.note_label")}
              error={translateProblem(errors.note?.message)}
              disabled={busy}
              {...register("note")}
            />
            {state.status === "running" && <OperationProgress progress={state.progress} initialPhase="sealing" />}
            {isOtherFile && (
              <Notice tone="warn" role="alert" title={t("provide.another_title")}>
                {t("provide.another_body")}
              </Notice>
            )}
            <ErrorNotice error={state.status === "failed" && !isOtherFile ? state.error : null} />
            <SpacedRow>
              <Button type="submit" size="large" pending={busy}>
                {t(unfinishedAnswer === null ? "provide.send_action" : "provide.go_on_action")}
              </Button>
              {isOtherFile && (
                <Button
                  tone="quiet"
                  size="large"
                  onClick={() =>
                    void handleSubmit((draft) => {
                      send(draft, true);
                    })()
                  }
                >
                  {t("provide.anew_action")}
                </Button>
              )}
              {busy && (
                <Button tone="quiet" size="large" onClick={cancel}>
                  {t("provide.cancel_action")}
                </Button>
              )}
            </SpacedRow>
            <SmallText>{t("provide.sealed_body")}</SmallText>
          </Stack>
        </Card>
      </Stack>
    </form>
  );
}

const RequestTitle = styled.h2`
  font-size: ${s("textLarge")};
  overflow-wrap: anywhere;
`;

const Note = styled.p`
  padding-left: ${space(3)};
  border-left: 3px solid ${s("border")};
  white-space: pre-wrap;
  overflow-wrap: anywhere;
`;
