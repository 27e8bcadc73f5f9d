"""Videos in, clips out: sampling, frame conditions, joining and splitting."""
