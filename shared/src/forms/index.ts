/**
 * Form controls, and buttons to copy, print and save. Loaded in a script of its own, beside the
 * host's.
 */
export { ActProgress, type ActProgressProps } from "./ActProgress.tsx";
export {
  Checkbox,
  ChoiceGroup,
  Switch,
  type CheckboxProps,
  type Choice,
  type ChoiceGroupProps,
  type SwitchProps,
} from "./choices.tsx";
export { clipboardMilliseconds, copyForAWhile, type CopiedForAWhile } from "./clipboard.ts";
export { CopyButton, type CopyButtonProps } from "./CopyButton.tsx";
export { DeviceQuestion, type DeviceQuestionProps } from "./DeviceQuestion.tsx";
export { Field, FieldError, Hint, Label, type ControlWiring, type FieldProps } from "./Field.tsx";
export {
  PasswordField,
  SecretTextArea,
  TextArea,
  TextField,
  type PasswordFieldProps,
  type TextAreaProps,
  type TextFieldProps,
} from "./inputs.tsx";
export {
  contentOf,
  contentProblem,
  contentProblems,
  maxImageNameLength,
  maxTextBytes,
  titleOfFile,
  type ChosenContent,
  type ContentProblem,
} from "./content/chosen-content.ts";
export { FileField, type FileFieldProps } from "./content/FileField.tsx";
export { KindChoice, type KindChoiceProps } from "./content/KindChoice.tsx";
export { FilterBox, FilterFields, ListTools, type ListToolsProps } from "./ListTools.tsx";
export { PrintButton, type PrintButtonProps } from "./PrintButton.tsx";
export { RevealedContent, type RevealedContentProps } from "./RevealedContent.tsx";
export { PrintSheet, type PrintSheetProps } from "./PrintSheet.tsx";
export { saveFile } from "./save-file.ts";
export { SeedField, type SeedFieldProps } from "./seed/SeedField.tsx";
export { loadWords } from "./seed/word-lists.ts";
export { SelectField, type SelectFieldProps } from "./SelectField.tsx";
export { StrengthMeter, type StrengthMeterProps } from "./strength/StrengthMeter.tsx";
export { Stepper, type StepperProps } from "./Stepper.tsx";
export { TagField, type TagFieldProps } from "./TagField.tsx";
export { revealMilliseconds } from "./useReveal.ts";
