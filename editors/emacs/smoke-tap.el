;;; smoke-tap.el --- What the sessions share -*- lexical-binding: t; -*-

;;; Code:

(defvar smoke-failed 0)

(defun smoke-ok (condition name &optional detail)
  "Report whether CONDITION holds, under NAME, with DETAIL where it does not."
  (princ (format "%s - %s\n" (if condition "ok" "not ok") name))
  (unless condition
    (setq smoke-failed (1+ smoke-failed))
    (princ (format "  # %S\n" detail))))

(defun smoke-eventually (probe)
  "The first answer of PROBE that is not nil; nil after 30 seconds."
  (let ((end (+ (float-time) 30)) found)
    (while (and (not (setq found (funcall probe))) (< (float-time) end))
      (accept-process-output nil 0.05))
    found))

(defun smoke-run (session)
  "Run SESSION and end Emacs, with 0 when every check held."
  (condition-case problem
      (funcall session)
    (error (smoke-ok nil "the session runs to its end" problem)))
  (kill-emacs (if (zerop smoke-failed) 0 1)))
;;; smoke-tap.el ends here
